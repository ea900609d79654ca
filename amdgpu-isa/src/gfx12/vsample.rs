//! VSAMPLE: images with a sampler (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Sampled images.
    VSAMPLE of rdna4::mimg;
    24  image_msaa_load           ALL [];
    27  image_sample              ALL [];
    28  image_sample_d            ALL [];
    29  image_sample_l            ALL [];
    30  image_sample_b            ALL [];
    31  image_sample_lz           ALL [];
    32  image_sample_c            ALL [];
    33  image_sample_c_d          ALL [];
    34  image_sample_c_l          ALL [];
    35  image_sample_c_b          ALL [];
    36  image_sample_c_lz         ALL [];
    37  image_sample_o            ALL [];
    38  image_sample_d_o          ALL [];
    39  image_sample_l_o          ALL [];
    40  image_sample_b_o          ALL [];
    41  image_sample_lz_o         ALL [];
    42  image_sample_c_o          ALL [];
    43  image_sample_c_d_o        ALL [];
    44  image_sample_c_l_o        ALL [];
    45  image_sample_c_b_o        ALL [];
    46  image_sample_c_lz_o       ALL [];
    47  image_gather4             ALL [];
    48  image_gather4_l           ALL [];
    49  image_gather4_b           ALL [];
    50  image_gather4_lz          ALL [];
    51  image_gather4_c           ALL [];
    52  image_gather4_c_lz        ALL [];
    53  image_gather4_o           ALL [];
    54  image_gather4_lz_o        ALL [];
    55  image_gather4_c_lz_o      ALL [];
    56  image_get_lod             ALL [NO_D16];
    57  image_sample_d_g16        ALL [];
    58  image_sample_c_d_g16      ALL [];
    59  image_sample_d_o_g16      ALL [];
    60  image_sample_c_d_o_g16    ALL [];
    64  image_sample_cl           ALL [];
    65  image_sample_d_cl         ALL [];
    66  image_sample_b_cl         ALL [];
    67  image_sample_c_cl         ALL [];
    68  image_sample_c_d_cl       ALL [];
    69  image_sample_c_b_cl       ALL [];
    70  image_sample_cl_o         ALL [];
    71  image_sample_d_cl_o       ALL [];
    72  image_sample_b_cl_o       ALL [];
    73  image_sample_c_cl_o       ALL [];
    74  image_sample_c_d_cl_o     ALL [];
    75  image_sample_c_b_cl_o     ALL [];
    84  image_sample_c_d_cl_g16   ALL [];
    85  image_sample_d_cl_o_g16   ALL [];
    86  image_sample_c_d_cl_o_g16 ALL [];
    95  image_sample_d_cl_g16     ALL [];
    96  image_gather4_cl          ALL [];
    97  image_gather4_b_cl        ALL [];
    98  image_gather4_c_cl        ALL [];
    99  image_gather4_c_l         ALL [];
    100 image_gather4_c_b         ALL [];
    101 image_gather4_c_b_cl      ALL [];
    144 image_gather4h            ALL [];
}
